# Stand-ins of the base images, made of one Debian (bookworm) image, for a machine without the registry of the real ones:
# `make images DEBIAN=<image>`. For trials and tests; production uses the real ones.
# Flink's own image has no stand-in: a FlinkDeployment per job needs the real one.
ARG DEBIAN

FROM ${DEBIAN} AS python
RUN apt-get update && \
    apt-get install --yes --no-install-recommends ca-certificates python3 python3-pip python3-venv libpython3.11 && \
    rm -rf /var/lib/apt/lists/* /usr/lib/python3*/EXTERNALLY-MANAGED && \
    ln --symbolic /usr/bin/python3 /usr/local/bin/python
ENV PATH=/usr/local/bin:$PATH

# No Grafana: the line runs without one.
FROM ${DEBIAN} AS grafana
RUN mkdir --parents /usr/share/grafana

FROM ${DEBIAN} AS prometheus
RUN apt-get update && apt-get install --yes --no-install-recommends prometheus && rm -rf /var/lib/apt/lists/*
ENTRYPOINT ["prometheus"]

FROM ${DEBIAN} AS alertmanager
RUN apt-get update && apt-get install --yes --no-install-recommends prometheus-alertmanager && rm -rf /var/lib/apt/lists/*
ENTRYPOINT ["prometheus-alertmanager"]
