# Only `armoire` and its run-time files. docker-compose.yml starts it; test/e2e/compose.test.ts runs the same commands.
FROM node:24-slim AS build
WORKDIR /armoire
COPY package.json package-lock.json ./
RUN npm ci
COPY . .
RUN npm run build

FROM node:24-slim AS dependencies
WORKDIR /armoire
COPY package.json package-lock.json ./
# TypeScript is installed as an optional peer of a package, and is not needed.
RUN npm ci --omit=dev --ignore-scripts && rm -rf node_modules/typescript node_modules/@typescript

FROM node:24-slim
ARG UID=1000
WORKDIR /armoire
COPY --from=dependencies /armoire/node_modules node_modules
COPY --from=build /armoire/dist dist
COPY package.json LICENSE ./
COPY src/cli/armoire.js src/cli/
# A new volume mounted there gets this owner.
RUN ln -s /armoire/src/cli/armoire.js /usr/local/bin/armoire && install -d -m 700 -o $UID -g $UID /data
ENV NODE_ENV=production ARMOIRE_DATA_DIR=/data NODE_COMPILE_CACHE=/tmp/node-compile-cache
USER $UID:$UID
ENTRYPOINT ["armoire"]
CMD ["--help"]
