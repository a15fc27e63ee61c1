"""Several defences on one design: paired differences, a table, pictures and a page.

`entries` and `planning` turn the configuration into audits, `past_runs` reads audits logged before;
`comparison` is the pure middle; the rest shows and logs what it found.
"""
