declare module 'asl-validator' {
  /** The definition is of a state machine in Amazon States Language. */
  export default function validate(definition: object): { isValid: boolean; errors: unknown[] }
}
