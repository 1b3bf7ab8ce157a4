import diagnostics from 'node:diagnostics_channel'
import type { HttpRequest, MiddlewareStack } from '@smithy/types'
import type { AwsCallMessage } from '../../../lib/aws/calls/send.ts'

/** By the command that the product sends: its port and method. */
export const callNames = new WeakMap<object, string>()
/** Names the call in each request of the product to AWS; fault-proxy.ts takes it out again. */
export const CALL_HEADER = 'x-test-call'

// Loaded into every process of a test run, with aws-call-recorder.ts.
diagnostics.subscribe('container-file-promotion:aws-call', (message) => {
  const { name, command } = message as AwsCallMessage
  callNames.set(command, name)
  const { middlewareStack } = command as { middlewareStack?: MiddlewareStack<object, object> }
  middlewareStack?.add(
    (next) => (args) => {
      const { headers } = args.request as HttpRequest
      headers[CALL_HEADER] = name
      return next(args)
    },
    // After the signature, which does not cover it.
    { step: 'finalizeRequest', priority: 'low', name: 'nameCall', override: true },
  )
})
