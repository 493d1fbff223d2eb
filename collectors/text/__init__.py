"""What formats share: lines, stamps, code pages, numbers, CSV rows, JSON documents, listings, running counts. Pure."""
