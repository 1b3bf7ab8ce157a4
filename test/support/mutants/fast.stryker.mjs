import { strykerOptions } from './stryker-options.mjs'

/** `npm run mutants`: what is tested on fakes. */
export default strykerOptions('fast', ['lib/{audit,auth,containers,documents,http,ledger,promotion}/**/*.ts'])
