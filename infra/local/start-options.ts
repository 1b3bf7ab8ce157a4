import { join } from 'node:path'
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'

export interface StartOptions {
  port: number
  /** By which containers know this machine; undefined: nobody but this machine reaches the service. */
  host: string | undefined
  fresh: boolean
  verbose: boolean
  /** Builds and restarts the functions after every change of their source. */
  watch: boolean
  inspect: number | undefined
  directory: string
}

class UsageError extends Error {
  override readonly name = 'UsageError'
}

const DEFAULT_PORT = 3000
/** The default of Node.js and of debuggers. */
const DEFAULT_INSPECT_PORT = 9229
/** Options that npm takes for its own if the `--` before them is missing, and passes on in the environment only. */
const TAKEN_BY_NPM = ['port', 'host', 'fresh', 'watch', 'inspect'] as const

const MORE_HELP = `
PORT in the environment is another way to say --port. With AWS_ENDPOINT_URL_S3 and AWS_ENDPOINT_URL_DYNAMODB it uses
servers of your own instead of the embedded ones.`

/** @returns undefined when help was asked for, and printed @throws UsageError */
export function readStartOptions(
  args: readonly string[],
  { root, env }: { root: string; env: Readonly<Record<string, string | undefined>> },
): StartOptions | undefined {
  const forgotten = TAKEN_BY_NPM.find((name) => env[`npm_config_${name}`] !== undefined && !args.includes(`--${name}`))
  if (forgotten !== undefined) {
    throw new UsageError(`npm took --${forgotten} for itself: write npm start -- --${forgotten}`)
  }
  const command = new Command('npm start --')
    .description('Serves the API on this machine, with an embedded S3 and DynamoDB. Ctrl-C stops it.')
    .option('--port <number>', 'where it answers; its S3 does so one above, its DynamoDB two', parsePort, DEFAULT_PORT)
    .option('--host <name>', 'let containers, and the network, reach it by this name of this machine', parseHost)
    .option('--fresh', 'delete the data of earlier starts first', false)
    .option('--verbose', 'print all that is otherwise only in service.log: the functions’ logs and metrics', false)
    .option('--directory <path>', 'where it keeps its data, keys and service.log', join(root, '.local'))
    .option('--watch', 'build and start the functions again whenever lib/ or functions/ change (npm run dev)', false)
    .addOption(
      new Option('--inspect [port]', 'let a debugger attach to the functions')
        .preset(String(DEFAULT_INSPECT_PORT))
        .argParser(parsePort),
    )
    .helpOption('--help', 'print this')
    .addHelpText('after', MORE_HELP)
    .configureOutput({ outputError() {} })
    .exitOverride()
  const port = env.PORT === undefined ? [] : ['--port', env.PORT]
  try {
    command.parse([...port, ...args], { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.code.startsWith('commander.help')) return undefined
    const known = [...command.options.map(({ long }) => long), '--help'].join(', ')
    if (error.code === 'commander.excessArguments') throw new UsageError(`npm start takes options only: ${known}.`)
    const text = error.message
      .replace(/^error: /, '')
      .replaceAll('\n', ' ')
      .replace(/\.$/, '')
    throw new UsageError(error.code === 'commander.unknownOption' ? `${text}. The options are ${known}.` : `${text}.`)
  }
  return command.opts<StartOptions>()
}

/** No name by which this machine alone would know itself. */
function parseHost(text: string): string {
  const isName = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(text) && !/^(127\.|0[.\d]*$|(.*\.)?localhost$)/i.test(text)
  if (!isName) {
    throw new InvalidArgumentError(
      'it must be the name or IPv4 address by which containers know this machine, such as host.docker.internal',
    )
  }
  return text.toLowerCase()
}

function parsePort(text: string): number {
  const port = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (!(port >= 1 && port <= 65_535)) throw new InvalidArgumentError('it must be a number from 1 to 65535')
  return port
}
