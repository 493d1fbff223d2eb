"""What is asked of ClickHouse: stored questions, published checks, studies of runs."""
