"""Makes the parts of pages that are generated, while the site is built."""
