// Loaded into the function host, whose servers the framework makes.
import { Server } from 'node:http'
import { refuseForeign } from './foreign-requests.ts'

refuseForeign(Server.prototype)
