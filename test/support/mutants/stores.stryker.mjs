import { strykerOptions } from './stryker-options.mjs'

/** `npm run mutants:stores`: what only the contracts on stand-ins show. */
export default strykerOptions('stores', ['lib/aws/**/*.ts'])
