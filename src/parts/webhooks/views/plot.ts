import type { History, Interval } from '#parts/webhooks/history.ts'
import { type PlotLabel, plotFigure, plotPanel, round, roundBelow } from '#web/components/plot.ts'
import { type Html, html } from '#web/html.ts'
import { amount, formatDuration } from './outcome-marks.ts'

/** The width of an interval, and the measures of both panels. */
const step = 10
const outcomes = { height: 150, top: 8, room: 134, least: 24 }
const latency = { height: 112, top: 8, base: 104 }

/** Two plots: successes above and failures below a line; and durations. */
export function plot(history: History): Html {
  const { intervals, succeeded, failed } = history
  if (!succeeded && !failed) return html`<p class="empty muted">${summaryOf(history)}</p>`
  const bars = barsOf(intervals)
  const times = timesOf(intervals)
  const width = intervals.length * step
  const panel = (name: string, height: number, { labels, shapes }: Drawn) =>
    plotPanel({
      name,
      title: titles[name] ?? '',
      summary: `${periodOf(history)}: ${summaryOf(history)}`,
      width,
      height,
      labels,
      shapes,
      hints: intervals.map((interval, index) => describe(history, interval, index)),
    })
  const panels = [panel('outcomes', outcomes.height, bars), panel('times', latency.height, times)]
  return plotFigure(panels, ticksOf(history), html`${legend}<p class="muted">${summaryOf(history)}</p>`)
}

const titles: Record<string, string> = { outcomes: 'Outcomes', times: 'Duration' }

interface Drawn {
  shapes: Html[]
  labels: PlotLabel[]
}

/** Both directions have the same scale. A bar has a minimum height, so that a single delivery is visible among hundreds. */
function barsOf(intervals: (Interval | null)[]): Drawn {
  const most = (count: (one: Interval) => number) => Math.max(0, ...intervals.map((one) => (one ? count(one) : 0)))
  const [highest, deepest] = [most(({ succeeded }) => succeeded), most(({ failed }) => failed)]
  const { top, room, least } = outcomes
  const share = highest / Math.max(highest + deepest, 1)
  const up = deepest === 0 ? room : highest === 0 ? 0 : Math.min(Math.max(room * share, least), room - least)
  const unit = Math.min(up / Math.max(highest, 1) || Infinity, (room - up) / Math.max(deepest, 1) || Infinity)
  const base = round(top + up)
  const tall = (count: number) => (count ? Math.max(count * unit, 3) : 0)
  const shapes = intervals.map((one, index) => {
    const [above, below] = [tall(one?.succeeded ?? 0), tall(one?.failed ?? 0)]
    return html`${above > 0 && bar('good', index, base - above, above)}${below > 0 && bar('bad', index, base, below)}`
  })
  const marks = [
    ...(highest ? [{ y: round(base - tall(roundBelow(highest))), text: amount(roundBelow(highest)) }] : []),
    ...(deepest ? [{ y: round(base + tall(roundBelow(deepest))), text: amount(roundBelow(deepest)) }] : []),
  ]
  // Labels must not overlap.
  const labels = marks.filter(({ y }) => Math.abs(y - base) >= 12)
  return { shapes, labels: [{ y: base, text: '0', base: true }, ...labels] }
}

const bar = (name: string, index: number, y: number, height: number) =>
  html`<rect class="${name}" x="${index * step + 1.5}" y="${round(y)}" width="${step - 3}" height="${round(height)}"/>`

/** A logarithmic scale, because durations range from two milliseconds to thirty seconds. */
function timesOf(intervals: (Interval | null)[]): Drawn {
  const known = intervals.flatMap((one) => (one && one.median !== null ? [one.median, one.slowest ?? one.median] : []))
  const power = (seconds: number) => Math.log10(Math.max(seconds, 0.001))
  const low = Math.floor(power(Math.min(...known, 1)))
  const high = Math.max(Math.ceil(power(Math.max(...known, 0))), low + 1)
  const y = (seconds: number) => latency.base - ((power(seconds) - low) / (high - low)) * (latency.base - latency.top)
  const shapes = intervals.map((one, index) => {
    if (one?.median == null) return html``
    const [middle, end] = [y(one.median), y(one.slowest ?? one.median)]
    const x = index * step
    return html`<rect class="reach" x="${x + 4}" y="${round(end)}" width="2" height="${round(Math.max(middle - end, 0))}"/><rect class="middle" x="${x + 1.5}" y="${round(middle - 1.5)}" width="${step - 3}" height="3"/>`
  })
  const labels = Array.from({ length: high - low + 1 }, (_, index) => 10 ** (low + index)).map((seconds) => ({
    y: round(y(seconds)),
    text: seconds < 1 ? `${Math.round(seconds * 1000)} ms` : `${seconds} s`,
  }))
  return { shapes, labels }
}

const hours = (at: Date) => at.toISOString().slice(11, 16)
const days = (at: Date) => at.toLocaleDateString('en-US', { month: 'short', day: 'numeric', timeZone: 'UTC' })
const day = 86_400_000

const isLong = ({ since, until }: History) => until.getTime() - since.getTime() > 2 * day

function ticksOf(history: History): string[] {
  const { since, until } = history
  const write = isLong(history) ? days : hours
  const length = until.getTime() - since.getTime()
  return [...[0, 1, 2, 3].map((quarter) => write(new Date(since.getTime() + (length * quarter) / 4))), 'now']
}

function describe(history: History, interval: Interval | null, index: number): string {
  const { since, until, intervals } = history
  const length = (until.getTime() - since.getTime()) / intervals.length
  const [from, to] = [index, index + 1].map((step) => new Date(since.getTime() + length * step))
  const time =
    from &&
    to &&
    (isLong(history) ? `${days(from)}, ${hours(from)} to ${days(to)}, ${hours(to)} UTC` : `${hours(from)} to ${hours(to)} UTC`)
  if (!interval) return `${time}: no deliveries`
  const { succeeded, failed, median, slowest } = interval
  const latency = median === null ? '' : `; median ${formatDuration(median)}, slowest ${formatDuration(slowest)}`
  return `${time}: ${amount(succeeded)} succeeded, ${amount(failed)} failed${latency}`
}

const periodOf = (history: History) =>
  history.cut ? 'the newest deliveries' : isLong(history) ? 'the last 30 days' : 'the last 24 hours'

function summaryOf(history: History): string {
  const { succeeded, failed, median, p95, slowest, cut } = history
  const total = succeeded + failed
  if (!total) return `No deliveries in ${periodOf(history)}.`
  const begin = cut ? `Of the newest ${amount(total)} deliveries` : `Of ${amount(total)} deliveries in ${periodOf(history)}`
  const counts = `${begin}, ${amount(succeeded)} succeeded and ${amount(failed)} failed.`
  // Deliveries that no listener took have no latency.
  if (median === null) return `${counts} Times are UTC.`
  return `${counts} Half took ${formatDuration(median)} or less, 95 of 100 took ${formatDuration(p95)} or less, the slowest took ${formatDuration(slowest)}. Times are UTC.`
}

const key = (shape: Html, text: string) =>
  html`<span class="key"><svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">${shape}</svg> ${text}</span>`

const legend = html`<p class="keys">${key(html`<rect class="good" x="1" y="1" width="10" height="10"/>`, 'succeeded, above the line')}
${key(html`<rect class="bad" x="1" y="1" width="10" height="10"/>`, 'failed, below it')}
${key(html`<rect class="middle" y="4.5" width="12" height="3"/>`, 'median')}
${key(html`<rect class="reach" x="5" width="2" height="12"/>`, 'up to the slowest')}</p>`

export function figures({ succeeded, failed, median, p95 }: History, waiting: Html): Html {
  const total = succeeded + failed
  const share = total ? `${((100 * succeeded) / total).toFixed(succeeded === total || succeeded === 0 ? 0 : 1)}%` : '–'
  const shown: [string, string | Html][] = [
    ['Deliveries', amount(total)],
    ['Succeeded', share],
    ['Failed', amount(failed)],
    ['Median duration', formatDuration(median)],
    ['95th percentile', formatDuration(p95)],
    ['Pending', waiting],
  ]
  return html`<dl class="figures">${shown.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`
}
