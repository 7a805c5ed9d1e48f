# Build: everything that compiling needs, none of which reaches the image that runs.
FROM node:22.16.0-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
RUN npm run build && npm prune --omit=dev

FROM node:22.16.0-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
# Owned by root and read by the user `node`: the program can't change itself.
COPY --from=build /build/package.json /build/docker-compose.yml ./
COPY --from=build /build/node_modules node_modules
COPY --from=build /build/lua lua
COPY --from=build /build/data data
COPY --from=build /build/migrations migrations
COPY --from=build /build/dist dist
USER node
EXPOSE 7420
# Ready, not merely alive: traffic should wait until every part has caught up.
HEALTHCHECK --interval=5s --timeout=5s --start-period=30s --retries=6 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.HOLDFAST_HTTP_PORT ?? 7420}/readyz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/src/cli/main.js", "serve"]
