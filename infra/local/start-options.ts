import { join } from 'node:path'
import { Command, InvalidArgumentError, Option } from 'commander'

export interface StartOptions {
  port: number
  /** By which containers know this machine; undefined: nobody but this machine reaches the service. */
  host: string | undefined
  fresh: boolean
  verbose: boolean
  watch: boolean
  inspect: number | undefined
  directory: string
}

const DEFAULT_PORT = 3000
const DEFAULT_INSPECT_PORT = 9229
/** Options that npm takes for its own if the `--` before them is missing, and passes on in the environment only. */
const TAKEN_BY_NPM = ['port', 'host', 'fresh', 'watch', 'inspect']

const MORE_HELP = `
With AWS_ENDPOINT_URL_S3 and AWS_ENDPOINT_URL_DYNAMODB it uses servers of your own instead of the embedded ones.`

/** Ends the process when they are wrong, or help was asked for. */
export function readStartOptions(args: readonly string[], root: string): StartOptions {
  const port = new Option('--port <number>', 'where it answers; its S3 does so one above, its DynamoDB two')
  const inspect = new Option('--inspect [port]', 'let a debugger attach to the functions')
  const command = new Command('npm start --')
    .description('Serves the API on this machine, with an embedded S3 and DynamoDB. Ctrl-C stops it.')
    .addOption(port.env('PORT').default(DEFAULT_PORT).argParser(parsePort))
    .option('--host <name>', 'let containers, and the network, reach it by this name of this machine', parseHost)
    .option('--fresh', 'delete the data of earlier starts first', false)
    .option('--verbose', 'print all that is otherwise only in service.log: the functions’ logs and metrics', false)
    .option('--directory <path>', 'where it keeps its data, keys and service.log', join(root, '.local'))
    .option('--watch', 'build and start the functions again whenever lib/ or functions/ change (npm run dev)', false)
    .addOption(inspect.preset(String(DEFAULT_INSPECT_PORT)).argParser(parsePort))
    .helpOption('--help', 'print this')
    .addHelpText('after', MORE_HELP)
    .parse(args, { from: 'user' })
  const forgotten = TAKEN_BY_NPM.find((name) => `npm_config_${name}` in process.env && !args.includes(`--${name}`))
  if (forgotten !== undefined) command.error(`npm took --${forgotten} for itself: write npm start -- --${forgotten}`)
  return command.opts<StartOptions>()
}

/** No name by which this machine alone would know itself. */
export function parseHost(text: string): string {
  const isName = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(text) && !/^(127\.|0[.\d]*$|(.*\.)?localhost$)/i.test(text)
  if (isName) return text.toLowerCase()
  const kind = 'the name or IPv4 address by which containers know this machine'
  throw new InvalidArgumentError(`It must be ${kind}, such as host.docker.internal.`)
}

export function parsePort(text: string): number {
  const port = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (!(port >= 1 && port <= 65_535)) throw new InvalidArgumentError('It must be a number from 1 to 65535.')
  return port
}
