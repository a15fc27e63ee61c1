"""The pictures and the self-contained page of an audit.

Nothing is imported here: matplotlib and Jinja2 are loaded by the functions that use them.
"""
