import { strykerOptions } from './stryker-options.mjs'

/** `npm run mutants`: what is tested on stores in memory. */
export default strykerOptions('fast', ['lib/{audit,auth,containers,documents,http,ledger,promotion}/**/*.ts'])
