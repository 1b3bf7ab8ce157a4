export interface Plot {
  file: string
}
