import { readFile } from 'node:fs/promises'
import type { Plugin } from 'esbuild'

/**
 * Keeps a cold start from reading code that it never runs (docs/decisions/0013-lean-bundle.md; each was measured by
 * `npm run bench -- first-request`). None of these changes what the code does in a Lambda.
 */
export const LEAN_SDK: Plugin[] = [rewriteModules(), requireBuiltins()]

const STRING_CONSTANT = /^const (_\w+) = ("[^"\\\n]*");$/gm
const COMPUTED_KEY = /\[(_\w+)\]:/g

const REWRITTEN: [module: RegExp, write: (source: string) => string][] = [
  // The SDK describes every operation of a service in one file, with keys such as `[_hH]:`. esbuild must take these for
  // calls of toString and keeps all 480 descriptions of S3; with the keys written out, it drops the unused ones.
  [/[\\/]dist-es[\\/]schemas[\\/]schemas_\d+\.js$/, inlineKeys],
  // Lambda passes credentials in the environment. The SDK's default chain would add clients for SSO, STS and the instance
  // metadata service, and their shared code would end up in the chunks of the cold start. They are read for each call:
  // a process may outlive its first credentials.
  [
    /@aws-sdk[\\/]credential-provider-node[\\/]dist-es[\\/]index\.js$/,
    () => "export { fromEnv as defaultProvider } from '@aws-sdk/credential-provider-env'",
  ],
  // No Lambda has ~/.aws/config; the first request would look for it, once for each client.
  [
    /[\\/]shared-ini-file-loader[\\/]loadSharedConfigFiles\.js$/,
    () => `
      export { CONFIG_PREFIX_SEPARATOR } from './constants'
      export const loadSharedConfigFiles = async () => ({ configFile: {}, credentialsFile: {} })`,
  ],
  // Only SelectObjectContent streams events.
  [
    /@smithy[\\/]core[\\/]dist-es[\\/]submodules[\\/]event-streams[\\/]index\.js$/,
    () => `
      export const resolveEventStreamSerdeConfig = (config) => config
      export const eventStreamSerdeProvider = undefined
      export class EventStreamSerde {}`,
  ],
  // Signs for access points of several regions, with a package that we do not have.
  [
    /[\\/]SignatureV4MultiRegion\.js$/,
    () => `
      import { SignatureV4SignWithCredentials } from './SignatureV4SignWithCredentials'
      export class SignatureV4MultiRegion extends SignatureV4SignWithCredentials {
        static sigv4aDependency() { return 'none' }
      }`,
  ],
  // A library prints with it when DEBUG is set.
  [/node_modules[\\/]debug[\\/]src[\\/]index\.js$/, () => 'export default () => () => {}'],
  [/text-codec.+index\.js$/, () => 'export const textDecode = (a, b) => Buffer.from(a).toString(b), textEncode = null'],
  // Only its version is read.
  [
    /@aws-sdk[\\/]client-[\w-]+[\\/]package\.json$/,
    (source) => `export default { version: ${JSON.stringify(JSON.parse(source).version)} }`,
  ],
  // Modules that are imported but never used: another strategy of retries, a region that no variable names, fallbacks for
  // hashes that Node.js has, a cache of endpoints, for which no operation of DynamoDB asks; streams of browsers;
  // and of the library of file types, streams, blobs, fractions and the lists of all types.
  [
    /[\\/](DefaultRateLimiter|getInstanceMetadataRegion|(Sha256|Sha1|Md5|Crc32)Js|endpoint-cache[\\/]dist-es[\\/]index|sdk-stream-mixin\.browser|(Blob|ReadStream)Tokenizer|WebStreamReaderFactory|ieee754[\\/]index|file-type[\\/]source[\\/]supported)\.js$/,
    () => `
      class Unused {}
      export {
        Unused as DefaultRateLimiter, Unused as getInstanceMetadataRegion, Unused as Sha256Js, Unused as Sha1Js,
        Unused as Md5Js, Unused as Crc32Js, Unused as EndpointCache, Unused as sdkStreamMixin,
        Unused as BlobTokenizer, Unused as ReadStreamTokenizer, Unused as makeWebStreamReader, Unused as read,
        Unused as write
      }
      export const extensions = [], mimeTypes = []`,
  ],
]

function rewriteModules(): Plugin {
  return {
    name: 'rewrite-modules',
    setup(build) {
      for (const [filter, write] of REWRITTEN) {
        build.onLoad({ filter }, async ({ path }) => ({ contents: write(await readFile(path, 'utf8')), loader: 'js' }))
      }
    },
  }
}

function inlineKeys(source: string): string {
  const constants = new Map([...source.matchAll(STRING_CONSTANT)].map(([, name, literal]) => [name, literal]))
  return source.replace(COMPUTED_KEY, (key, name) => (constants.has(name) ? `${constants.get(name)}:` : key))
}

/**
 * `import` of a module of Node's own reads every property of it once, lazy ones too: `node:http` loads undici, `node:fs`
 * readline. `process.getBuiltinModule` reads what is used.
 */
function requireBuiltins(): Plugin {
  const filter = /^(node:)?(crypto|fs|fs\/promises|http|https|os|process|stream|zlib)$/
  return {
    name: 'require-builtins',
    setup(build) {
      const namespace = 'builtin'
      build.onResolve({ filter }, ({ path }) => {
        return { path: path.replace(/^(node:)?/, 'node:'), namespace, sideEffects: false }
      })
      build.onLoad({ filter: /.*/, namespace }, ({ path }) => ({
        contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)})`,
        loader: 'js',
      }))
    },
  }
}
