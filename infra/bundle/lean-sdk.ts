import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Plugin } from 'esbuild'

/**
 * What keeps a cold start from reading code that it never runs (docs/decisions/0013-lean-bundle.md; each was measured by
 * `npm run bench -- load`). None of these changes what the code does in a Lambda.
 */
export const LEAN_SDK: Plugin[] = [
  inlineSchemaKeys(),
  environmentCredentials(),
  noConfigurationFiles(),
  requireBuiltins(),
  requireBuiltinsOnDemand(),
]

const SCHEMA_FILES = /[\\/]dist-es[\\/]schemas[\\/]schemas_\d+\.js$/
const STRING_CONSTANT = /^const (_\w+) = ("[^"\\\n]*");$/gm
const ON_DEMAND = /await import\(("node:\w+")\)/g
const COMPUTED_KEY = /\[(_\w+)\]:/g

/**
 * The SDK describes every operation of a service in one file, with keys such as `[_hH]:`. esbuild must take these for
 * calls of toString and keeps all 480 descriptions of S3; with the keys written out it drops those nobody uses.
 */
function inlineSchemaKeys(): Plugin {
  return {
    name: 'inline-schema-keys',
    setup(build) {
      build.onLoad({ filter: SCHEMA_FILES }, async ({ path }) => ({
        contents: inlineKeys(await readFile(path, 'utf8')),
        loader: 'js',
      }))
    },
  }
}

function inlineKeys(source: string): string {
  const constants = new Map([...source.matchAll(STRING_CONSTANT)].map(([, name, literal]) => [name, literal]))
  return source.replace(COMPUTED_KEY, (key, name) => (constants.has(name) ? `${constants.get(name)}:` : key))
}

/**
 * Lambda passes credentials in the environment. The SDK's default chain would add clients for SSO, STS and the instance
 * metadata service, and their shared code would end up in the chunks of the cold start.
 */
function environmentCredentials(): Plugin {
  return {
    name: 'environment-credentials',
    setup(build) {
      const namespace = 'environment-credentials'
      build.onResolve({ filter: /^@aws-sdk\/credential-provider-node$/ }, ({ path, resolveDir }) => ({
        path,
        namespace,
        pluginData: resolveDir,
      }))
      build.onLoad({ filter: /.*/, namespace }, ({ pluginData: resolveDir }) => ({
        // Read once: Lambda gives a process its credentials at its start, and ends it before they expire.
        contents: `
          import { fromEnv } from '@aws-sdk/credential-provider-env'
          export const defaultProvider = (init) => {
            let credentials
            return () => (credentials ??= fromEnv(init)())
          }`,
        resolveDir,
      }))
    },
  }
}

/** No Lambda has ~/.aws/config; the first request would look for it, once for each client. */
function noConfigurationFiles(): Plugin {
  return {
    name: 'no-configuration-files',
    setup(build) {
      build.onLoad({ filter: /[\\/]shared-ini-file-loader[\\/]loadSharedConfigFiles\.js$/ }, ({ path }) => ({
        contents: `
          export { CONFIG_PREFIX_SEPARATOR } from './constants'
          export const loadSharedConfigFiles = async () => ({ configFile: {}, credentialsFile: {} })`,
        resolveDir: dirname(path),
      }))
    },
  }
}

/**
 * `import` of a module of Node's own reads every property of it once, lazy ones too: `node:http` loads undici, `node:fs`
 * readline. `process.getBuiltinModule` reads what is used.
 */
function requireBuiltins(): Plugin {
  return {
    name: 'require-builtins',
    setup(build) {
      const namespace = 'builtin'
      build.onResolve(
        { filter: /^(node:)?(crypto|fs|fs\/promises|http|https|os|process|stream|zlib)$/ },
        ({ path }) => ({
          path: path.replace(/^(node:)?/, 'node:'),
          namespace,
          sideEffects: false,
        }),
      )
      build.onLoad({ filter: /.*/, namespace }, ({ path }) => ({
        contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)})`,
        loader: 'js',
      }))
    },
  }
}

/** The SDK imports node:http when an endpoint is not https: esbuild would put it into a file of its own. */
function requireBuiltinsOnDemand(): Plugin {
  return {
    name: 'require-builtins-on-demand',
    setup(build) {
      build.onLoad({ filter: /[\\/]node-http-handler[\\/]dist-es[\\/]node-http-handler\.js$/ }, async ({ path }) => ({
        contents: (await readFile(path, 'utf8')).replaceAll(ON_DEMAND, 'process.getBuiltinModule($1)'),
        loader: 'js',
      }))
    },
  }
}
