import { readFile } from 'node:fs/promises'
import type { Plugin, PluginBuild } from 'esbuild'

/**
 * Keeps a cold start from reading code that it never runs (docs/decisions/0013-lean-bundle.md; each was measured by
 * `npm run bench -- first-request`). None of these changes what the code does in a Lambda.
 */
export const LEAN_SDK: Plugin = {
  name: 'lean-sdk',
  setup(build) {
    rewriteModules(build)
    requireBuiltins(build)
  },
}

/** @throws Error naming what a newer SDK has moved or renamed: it would be shipped as it is, and only be slower */
export function requireTargets(inputs: readonly string[]): void {
  const missing = Object.keys(REWRITTEN).filter((module) => !inputs.some((path) => new RegExp(`${module}$`).test(path)))
  if (missing.length > 0) throw new Error(`infra/bundle/lean-sdk.ts finds no module for: ${missing.join(', ')}`)
}

/**
 * Modules that are imported but never used: strategies of retries; a region that no variable names; hashes that Node.js has
 * or no call asks for; a cache of endpoints, for which no operation of DynamoDB asks; streams of browsers, and the headers
 * of events; sessions of directory buckets; and of the library of file types, streams, blobs, fractions and all its types.
 */
const UNUSED = [
  ...['AdaptiveRetryStrategy', 'StandardRetryStrategy', 'getInstanceMetadataRegion'],
  ...['Sha256Js', 'Sha1Js', 'Md5Js', 'Crc32Js', 'Crc32cJs', 'Crc64NvmeJs', 'endpoint-cache/dist-es/EndpointCache'],
  ...['core/.+\\.browser', 'HeaderFormatter', 'S3ExpressIdentityCache', 'S3ExpressIdentityProviderImpl'],
  ...['BlobTokenizer', 'ReadStreamTokenizer', 'WebStreamReaderFactory', 'ieee754/index', 'file-type/source/supported'],
].map((path) => [`/${path}\\.js`, unused])

/** By the ends of their paths, as patterns. */
const REWRITTEN: Readonly<Record<string, (source: string) => string>> = {
  // Each call copies the client's configuration three times. The SDK builds it piece by piece, and V8 copies such an
  // object at a seventh of the speed of one that was written as a whole.
  '@aws-sdk/client-[\\w-]+/dist-es/\\w+Client\\.js': (source) =>
    source.replace(/this\.config = (_config_\d+);/, 'this.config = { ...$1 };'),
  // Lambda passes credentials in the environment. The SDK's default chain would add clients for SSO, STS and the instance
  // metadata service, and their shared code would end up in the chunks of the cold start. They are read for each call:
  // a process may outlive its first credentials.
  '@aws-sdk/credential-provider-node/dist-es/index\\.js': () =>
    "export { fromEnv as defaultProvider } from '@aws-sdk/credential-provider-env'",
  // No Lambda has ~/.aws/config; the first request would look for it, once for each client.
  '/shared-ini-file-loader/loadSharedConfigFiles\\.js': () => `
      export { CONFIG_PREFIX_SEPARATOR } from './constants'
      export const loadSharedConfigFiles = async () => ({ configFile: {}, credentialsFile: {} })`,
  // Only SelectObjectContent streams events.
  '@smithy/core/dist-es/submodules/event-streams/index\\.js': () => `
      export const resolveEventStreamSerdeConfig = (config) => config
      export const eventStreamSerdeProvider = undefined
      export class EventStreamSerde {}`,
  // Signs for access points of several regions, with a package that we do not have.
  '/SignatureV4MultiRegion\\.js': () => `
      import { SignatureV4SignWithCredentials } from './SignatureV4SignWithCredentials'
      export class SignatureV4MultiRegion extends SignatureV4SignWithCredentials {
        static sigv4aDependency() { return 'none' }
      }`,
  // A library prints with it when DEBUG is set.
  'node_modules/debug/src/index\\.js': () => 'export default () => () => {}',
  'text-codec.+index\\.js': () => 'export const textDecode = (a, b) => Buffer.from(a).toString(b), textEncode = null',
  // Only its version is read.
  '@aws-sdk/client-[\\w-]+/package\\.json': (source) =>
    `export default { version: ${JSON.stringify(JSON.parse(source).version)} }`,
  // The clients try once (lib/aws/clients.ts).
  '/retryMiddleware\\.js': () => `
      export const retryMiddlewareOptions = { name: 'retryMiddleware', step: 'finalizeRequest', priority: 'high' }
      export const bindRetryMiddleware = () => () => (next) => next
      export const bindGetRetryPlugin = () => () => ({
        applyToStack: (stack) => stack.add((next) => next, retryMiddlewareOptions)
      })`,
  ...Object.fromEntries(UNUSED),
}

function rewriteModules(build: PluginBuild): void {
  for (const [module, write] of Object.entries(REWRITTEN)) {
    const filter = new RegExp(`${module.replaceAll('/', '[\\\\/]')}$`)
    build.onLoad({ filter }, async ({ path }) => {
      const source = await readFile(path, 'utf8')
      const contents = write(source)
      if (contents === source) throw new Error(`${path} is not as infra/bundle/lean-sdk.ts expects it`)
      return { contents, loader: 'js' }
    })
  }
}

const EXPORTED = /^export (?:async )?(?:class|const|function) (\w+)|^exports\.(\w+) =/gm

/** All names of the module, for something that does nothing and has no entries. */
function unused(source: string): string {
  const names = [...source.matchAll(EXPORTED)].map(([, name, other]) => `Unused as ${name ?? other}`)
  return `class Unused { static *[Symbol.iterator]() {} }\nexport { ${names} }`
}

/**
 * `import` of a module of Node's own reads every property of it once, lazy ones too: `node:http` loads undici, `node:fs`
 * readline. `process.getBuiltinModule` reads what is used.
 */
function requireBuiltins(build: PluginBuild): void {
  const filter = /^(node:)?(crypto|fs|fs\/promises|http|https|os|process|stream|zlib)$/
  const namespace = 'builtin'
  build.onResolve({ filter }, ({ path }) => {
    return { path: path.replace(/^(node:)?/, 'node:'), namespace, sideEffects: false }
  })
  build.onLoad({ filter: /.*/, namespace }, ({ path }) => ({
    contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)})`,
    loader: 'js',
  }))
}
