import { strykerOptions } from './stryker-options.mjs'

/** `npm run mutants`: what is tested on fakes. */
export default strykerOptions('fast', ['lib/{auth,files,http,maintenance,promotion}/**/*.ts'])
