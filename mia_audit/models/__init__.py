"""Models that can be audited: one noun a family, all trained through the same call."""
