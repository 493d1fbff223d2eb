"""Between Kafka and ClickHouse: jobs, rules, landing, and what watches and audits them."""

if __name__ == "pipelines":  # the folder of a checkout: its modules would be loaded a second time
    raise ImportError("import counterflow.pipelines instead of pipelines")
