/** One line of a plot, or one bar of a bar plot (then each point is a bar). */
export interface Series {
  name: string
  points: { x: number | string; y: number }[]
}

export interface Plot {
  /** Without extension. */
  file: string
  title: string
  x: string
  y: string
  kind: 'lines' | 'bars'
  /** Lines only: which axes count in powers of ten. */
  logarithmic?: 'x' | 'both'
  series: Series[]
}

const WIDTH = 760
const HEIGHT = 420
const LEFT = 70
const RIGHT = 190
const TOP = 46
const BOTTOM = 56
/** Okabe and Ito's colours, which everybody can tell apart. */
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#000000']

/** The plot as an SVG file: no browser, no library, readable on light and dark pages. */
export function renderPlot(plot: Plot): string {
  const body = plot.kind === 'bars' ? renderBars(plot) : renderLines(plot)
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">
<rect width="${WIDTH}" height="${HEIGHT}" fill="white"/>
<text x="${LEFT}" y="24" font-size="15">${escapeXml(plot.title)}</text>
<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 14}" text-anchor="middle">${escapeXml(plot.x)}</text>
<text transform="translate(16 ${(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" text-anchor="middle">${escapeXml(plot.y)}</text>
${body}
</svg>
`
}

function renderLines({ series, logarithmic }: Plot): string {
  const points = series.flatMap((each) => each.points.map(({ x, y }) => ({ x: Number(x), y })))
  const scaleX = createScale(
    points.map(({ x }) => x),
    [LEFT, WIDTH - RIGHT],
    logarithmic !== undefined,
  )
  const scaleY = createScale(
    points.map(({ y }) => y),
    [HEIGHT - BOTTOM, TOP],
    logarithmic === 'both',
  )
  const lines = series.map(({ name, points: own }, index) => {
    const colour = COLOURS[index % COLOURS.length]
    const path = own.map(({ x, y }) => `${scaleX.at(Number(x)).toFixed(1)},${scaleY.at(y).toFixed(1)}`)
    const dots = path.map((at) => `<circle cx="${at.split(',')[0]}" cy="${at.split(',')[1]}" r="3" fill="${colour}"/>`)
    return `<polyline points="${path.join(' ')}" fill="none" stroke="${colour}" stroke-width="2"/>${dots.join('')}${legend(name, index)}`
  })
  const across = scaleX.ticks.map((tick) => {
    const x = scaleX.at(tick).toFixed(1)
    return `<path d="M${x} ${TOP}V${HEIGHT - BOTTOM}" stroke="#ddd"/><text x="${x}" y="${HEIGHT - BOTTOM + 18}" text-anchor="middle">${formatTick(tick)}</text>`
  })
  return [...across, ...renderYAxis(scaleY), ...lines].join('\n')
}

function renderBars({ series }: Plot): string {
  const bars = series.flatMap(({ points }, index) => points.map((point) => ({ ...point, index })))
  const scaleY = createScale([0, ...bars.map(({ y }) => y)], [HEIGHT - BOTTOM, TOP], false)
  const step = (WIDTH - RIGHT - LEFT) / bars.length
  const drawn = bars.map(({ x, y, index }, position) => {
    const left = LEFT + step * (position + 0.15)
    const top = scaleY.at(y)
    const middle = (left + step * 0.35).toFixed(1)
    return `<rect x="${left.toFixed(1)}" y="${top.toFixed(1)}" width="${(step * 0.7).toFixed(1)}" height="${(HEIGHT - BOTTOM - top).toFixed(1)}" fill="${COLOURS[index % COLOURS.length]}"/>
<text x="${middle}" y="${(top - 5).toFixed(1)}" text-anchor="middle">${formatTick(y)}</text><text x="${middle}" y="${HEIGHT - BOTTOM + 18}" text-anchor="middle">${escapeXml(String(x))}</text>`
  })
  return [...renderYAxis(scaleY), ...drawn, ...series.map(({ name }, index) => legend(name, index))].join('\n')
}

interface Scale {
  at(value: number): number
  ticks: number[]
}

function renderYAxis(scale: Scale): string[] {
  return scale.ticks.map((tick) => {
    const y = scale.at(tick).toFixed(1)
    return `<path d="M${LEFT} ${y}H${WIDTH - RIGHT}" stroke="#ddd"/><text x="${LEFT - 6}" y="${y}" dy="4" text-anchor="end">${formatTick(tick)}</text>`
  })
}

function createScale(values: number[], [from, to]: [number, number], isLogarithmic: boolean): Scale {
  const position = isLogarithmic ? Math.log10 : (value: number) => value
  const low = isLogarithmic ? 10 ** Math.floor(Math.log10(Math.min(...values))) : 0
  const step = 10 ** Math.floor(Math.log10(Math.max(...values)))
  const high = isLogarithmic
    ? 10 ** Math.ceil(Math.log10(Math.max(...values)))
    : Math.ceil(Math.max(...values) / step) * step
  const part = (value: number) => (position(value) - position(low)) / (position(high) - position(low))
  const count = isLogarithmic ? Math.round(Math.log10(high / low)) : Math.round(high / step)
  const tick = (index: number) => (isLogarithmic ? low * 10 ** index : step * index)
  return {
    at: (value) => from + part(value) * (to - from),
    ticks: Array.from({ length: count + 1 }, (_, index) => tick(index)),
  }
}

function legend(name: string, index: number): string {
  const y = TOP + 12 + index * 20
  return `<rect x="${WIDTH - RIGHT + 16}" y="${y - 9}" width="12" height="10" fill="${COLOURS[index % COLOURS.length]}"/><text x="${WIDTH - RIGHT + 34}" y="${y}">${escapeXml(name)}</text>`
}

function formatTick(value: number): string {
  return Number(value.toPrecision(3)).toLocaleString('en-US', { maximumSignificantDigits: 3 })
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
