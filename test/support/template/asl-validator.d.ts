declare module 'asl-validator' {
  /** Of a state machine in Amazon States Language. */
  export default function validate(definition: object): { isValid: boolean; errors: unknown[] }
}
