# elrcheck without Spark, for gates in CI: docs/install.md.
#
#   docker build -t elrcheck .
#   docker run --rm -v "$PWD:/work" --user "$(id -u):$(id -g)" elrcheck check --scope two-brokers
#
# Every package is pinned by its hash in requirements-gate.txt. Name the base image by its digest, if you need the
# same for the system: docker build --build-arg PYTHON=python@sha256:...
ARG PYTHON=python:3.11-slim

FROM ${PYTHON} AS build
WORKDIR /src
RUN python -m venv /opt/elrcheck
COPY requirements-gate.txt ./
RUN /opt/elrcheck/bin/pip install --no-cache-dir --require-hashes -r requirements-gate.txt
COPY . .
RUN /opt/elrcheck/bin/pip install --no-cache-dir --no-deps --no-build-isolation .

FROM ${PYTHON}
LABEL org.opencontainers.image.title="elrcheck" \
      org.opencontainers.image.description="A toolkit for protocols written in Python, and the verification of Kafka partitions built with it" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /opt/elrcheck /opt/elrcheck
# Compiled searches are kept in the image's /tmp, where a user of any number may write.
ENV PATH=/opt/elrcheck/bin:$PATH \
    ELRCHECK_CACHE_DIR=/tmp/elrcheck
RUN useradd --uid 10001 --create-home elrcheck && install -d -o elrcheck -g elrcheck /work
USER 10001:10001
WORKDIR /work
ENTRYPOINT ["elrcheck"]
CMD ["--help"]
