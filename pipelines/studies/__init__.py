"""What would happen if: published measurements applied to what is measured here, each assumption beside its figure."""
