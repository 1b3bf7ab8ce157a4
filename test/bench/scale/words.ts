export const asCount = (count: number) => count.toLocaleString('en-US')
export const asPercent = (part: number) => `${(part * 100).toFixed(0)} %`
export const asSeconds = (seconds: number) => `${seconds.toFixed(seconds < 1 ? 2 : 1)} s`
export const asDollars = (dollars: number) => `$${dollars.toPrecision(2)}`

export function asHours(hours: number): string {
  if (hours >= 1) return `${hours.toFixed(1)} h`
  return hours * 60 >= 2 ? `${(hours * 60).toFixed(0)} min` : asSeconds(hours * 3600)
}
