"""Select the records a model was trained on, from score files of any model."""
