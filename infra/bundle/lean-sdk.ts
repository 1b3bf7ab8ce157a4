import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Plugin } from 'esbuild'

/**
 * What keeps a cold start from reading code that it never runs (docs/decisions/0013-lean-bundle.md; each was measured by
 * `npm run bench -- first-request`). None of these changes what the code does in a Lambda.
 */
export const LEAN_SDK: Plugin[] = [rewriteModules(), requireBuiltins()]

const STRING_CONSTANT = /^const (_\w+) = ("[^"\\\n]*");$/gm
const COMPUTED_KEY = /\[(_\w+)\]:/g
const ON_DEMAND = /await import\(("node:\w+")\)/g
const ZLIB = 'import * as zlib from "node:zlib"'

const REWRITTEN: [module: RegExp, write: (source: string, path: string) => string][] = [
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
  // The SDK imports node:http when an endpoint is not https, which esbuild would put into a file of its own.
  [
    /[\\/]node-http-handler[\\/]dist-es[\\/]node-http-handler\.js$/,
    (source) => source.replaceAll(ON_DEMAND, 'process.getBuiltinModule($1)'),
  ],
  // node:zlib is used for a CRC-32 alone.
  [
    /[\\/]Crc32Node\.js$/,
    (source) =>
      source.replace(ZLIB, 'const zlib = { crc32: (...data) => process.getBuiltinModule("node:zlib").crc32(...data) }'),
  ],
  // From here on: modules that are imported but never used, reduced to what their importers need.
  // No operation of DynamoDB asks for other endpoints; its client makes a cache for them all the same.
  [/@aws-sdk[\\/]endpoint-cache[\\/]dist-es[\\/]index\.js$/, () => 'export class EndpointCache {}'],
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
  // Another strategy of retries, a region that no variable names, streams of browsers.
  [
    /[\\/](DefaultRateLimiter|getInstanceMetadataRegion|sdk-stream-mixin\.browser)\.js$/,
    () => 'export const [DefaultRateLimiter, getInstanceMetadataRegion, sdkStreamMixin] = []',
  ],
  // Fallbacks for hashes that node:crypto and node:zlib lack.
  [/[\\/](Sha256|Sha1|Md5|Crc32)Js\.js$/, (_, path) => `export class ${basename(path, '.js')} {}`],
  // A library prints with it when DEBUG is set.
  [/node_modules[\\/]debug[\\/]src[\\/]index\.js$/, () => 'export default () => () => {}'],
  // What the library of file types has for streams, blobs, fractions and runtimes without decoders.
  [
    /[\\/]((Blob|ReadStream)Tokenizer|WebStreamReaderFactory|ieee754[\\/]index)\.js$/,
    () => 'export const [BlobTokenizer, ReadStreamTokenizer, makeWebStreamReader, read, write] = []',
  ],
  [/text-codec.+index\.js$/, () => 'export const textDecode = (a, b) => Buffer.from(a).toString(b), textEncode = null'],
  // The lists of all types, which nobody asks for.
  [/file-type[\\/]source[\\/]supported\.js$/, () => 'export const extensions = [], mimeTypes = []'],
  // Only its version is read.
  [
    /@aws-sdk[\\/]client-[\w-]+[\\/]package\.json$/,
    (source) => `export default { version: ${JSON.stringify(JSON.parse(source).version)} }`,
  ],
]

function rewriteModules(): Plugin {
  return {
    name: 'rewrite-modules',
    setup(build) {
      for (const [filter, write] of REWRITTEN) {
        build.onLoad({ filter }, async ({ path }) => ({
          contents: write(await readFile(path, 'utf8'), path),
          loader: 'js',
        }))
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
