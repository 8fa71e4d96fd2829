import { type Growth, periods } from '#parts/timelines/repository/growth.ts'
import { plotFigure, plotPanel, round, roundBelow } from '#web/components/plot.ts'
import { dayText } from '#web/components/time.ts'
import { type Html, html } from '#web/html.ts'

const step = 10
const height = 96
const top = 8
const base = 88

const several = (count: number, noun: string, plural = `${noun}s`) =>
  `${count.toLocaleString('en')} ${count === 1 ? noun : plural}`

/** The number of stars as an area, and pushes as bars. */
export function growthPlot({ period, starts, pushes, stars, new_stars, cut }: Growth): Html {
  const width = starts.length * step
  const all = pushes.reduce((sum, count) => sum + count, 0)
  const summary = `${several(all, 'push', 'pushes')} and ${several(new_stars, 'new star')} in the last ${periods[period].days} days.`
  const from = (index: number) => dayText(starts[index] ?? new Date(0))
  const spans = starts.map((_, index) =>
    periods[period].step === 1 ? from(index) : `from ${from(index)}, ${periods[period].step} days`,
  )
  const panel = (name: string, title: string, values: number[], noun: [string, string], draw: Draw) => {
    const highest = Math.max(1, ...values)
    const y = (value: number) => round(base - (value / highest) * (base - top))
    const mark = roundBelow(highest)
    return plotPanel({
      name,
      title,
      summary,
      width,
      height,
      labels: [
        { y: base, text: '0', base: true },
        { y: y(mark), text: mark.toLocaleString('en') },
      ],
      shapes: draw(values, y),
      hints: values.map((value, index) => `${spans[index]}: ${several(value, ...noun)}`),
    })
  }
  const quarters = [0, 1, 2, 3].map((quarter) => from(Math.floor((starts.length * quarter) / 4)).replace(/ \d{4}$/, ''))
  const panels = [
    panel('stars', 'Stars', stars, ['star', 'stars'], area),
    panel('pushes', 'Pushes', pushes, ['push', 'pushes'], bars),
  ]
  const note = cut && html` Events before ${dayText(cut)} are not counted.`
  return plotFigure(panels, [...quarters, 'today'], html`<p class="muted">${summary}${note}</p>`)
}

type Draw = (values: number[], y: (value: number) => number) => Html[]

function bars(values: number[], y: (value: number) => number): Html[] {
  return values.map((value, index) =>
    value
      ? html`<rect class="pushes" x="${index * step + 1.5}" y="${y(value)}" width="${step - 3}" height="${round(base - y(value))}"/>`
      : html``,
  )
}

function area(values: number[], y: (value: number) => number): Html[] {
  const width = values.length * step
  const points = values.map((value, index) => `${index * step + step / 2} ${y(value)}`)
  const ends = [`0 ${y(values[0] ?? 0)}`, ...points, `${width} ${y(values.at(-1) ?? 0)}`]
  return [
    html`<path class="stars-area" d="M0 ${base}L${ends.join('L')}L${width} ${base}Z"/><path class="stars-line" d="M${ends.join('L')}"/>`,
  ]
}
