# BioBGT Explorer for a lab: the app behind a login, or any other command of biobgt. docs/serving.md says more.
#
#   docker build -t biobgt .                                                          # torch for the CPU
#   docker build -t biobgt --build-arg TORCH_INDEX=https://pypi.org/simple .          # torch with CUDA, some gigabytes
#   docker run --rm -v "$PWD:/data" -w /data biobgt hubs study/ --out results
#   docker run --rm -p 127.0.0.1:8501:8501 -e BIOBGT_PASSWORD biobgt \
#     app --public --address 0.0.0.0 --host explorer.lab.example                      # behind a proxy with TLS
FROM python:3.11-slim-bookworm

# Where the wheel of torch comes from; pip prefers the one for the CPU where it finds both.
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu

ENV PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PYTHONUNBUFFERED=1

WORKDIR /opt/biobgt
COPY requirements.txt pyproject.toml README.md LICENSE CITATION.cff ./
COPY biobgt biobgt
COPY app app
COPY assets assets
COPY pretrained pretrained
RUN pip install --extra-index-url "${TORCH_INDEX}" -r requirements.txt \
    && useradd --create-home --uid 1000 explorer

# Nothing needs root: results go to a folder that is mounted, copies of subjects to the user's own.
USER 1000
WORKDIR /home/explorer
EXPOSE 8501
ENTRYPOINT ["biobgt"]
CMD ["--help"]
