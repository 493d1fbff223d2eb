"""What people see: charts, each defined once, and what is made of them: Grafana dashboards and the report."""
