"""The simulations of arXiv 2605.25819 and 2510.09717: expected beside observed."""
