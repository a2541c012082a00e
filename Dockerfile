FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY client/package.json client/
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run build

# Production dependencies only. The embedded engine is left out as well, since GATE_CLICKHOUSE_URL names
# a server. To include it (about 0.5 GB): docker build --build-arg OMIT=dev .
FROM node:24-bookworm-slim AS dependencies
ARG OMIT="dev optional"
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY client/package.json client/
RUN for kind in $OMIT; do set -- "$@" "--omit=$kind"; done && npm ci --no-audit --no-fund "$@"

FROM node:24-bookworm-slim
ENV NODE_ENV=production GATE_HOST=0.0.0.0 GATE_PORT=8000 GATE_DATA_DIR=/data
WORKDIR /app
RUN install -d -o node -g node /data
COPY --from=dependencies /app ./
COPY --from=build /app/client ./client
COPY --from=build /app/server ./server
COPY --from=build /app/clickhouse ./clickhouse
USER node
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=3s --start-period=15s \
  CMD ["node", "-e", "const { GATE_TLS_CERT: tls, GATE_PORT: port } = process.env; require(tls ? 'https' : 'http').get({ port, path: '/healthz', rejectUnauthorized: false }, (answer) => process.exit(answer.statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
CMD ["node", "server/main.ts"]
