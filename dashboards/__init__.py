"""What people see: charts, each defined once, and what is made of them: Grafana dashboards and the report."""

if __name__ == "dashboards":  # the folder of a checkout: its modules would be loaded a second time
    raise ImportError("import counterflow.dashboards instead of dashboards")
