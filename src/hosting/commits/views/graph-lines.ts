import type { GraphRow } from '#hosting/commits/graph.ts'
import { type Html, html } from '#web/html.ts'

const step = 14
/** The height of the part with curves; below it, in a taller row, lines are straight. */
const height = 48
const middle = 24
const colours = 6

const x = (lane: number) => lane * step + step / 2
const line = (lane: number, path: string) => html`<path class="lane-${lane % colours}" d="${path}"/>`
const straight = (lane: number, bottom: number) => line(lane, `M${x(lane)} 0V${bottom}`)

/** The lines beside one commit. */
export function graphLines({ lane, joining, leaving, passing }: GraphRow, lanes: number, is_merge: boolean): Html {
  const at = x(lane)
  const into = joining.map((from) =>
    line(
      from,
      from === lane ? `M${at} 0V${middle}` : `M${x(from)} 0C${x(from)} ${middle * 0.7} ${at} ${middle * 0.3} ${at} ${middle}`,
    ),
  )
  const out = leaving.map((to) =>
    line(
      to,
      to === lane
        ? `M${at} ${middle}V${height}`
        : `M${at} ${middle}C${at} ${middle + middle * 0.7} ${x(to)} ${middle + middle * 0.3} ${x(to)} ${height}`,
    ),
  )
  const dot = html`<circle class="lane-${lane % colours}${is_merge && ' merge'}" cx="${at}" cy="${middle}" r="${is_merge ? 3 : 4}"/>`
  return html`<span class="graph" aria-hidden="true"><svg width="${lanes * step}" height="${height}">${passing.map((one) => straight(one, height))}${into}${out}${dot}</svg>${rest([...passing, ...leaving], lanes)}</span>`
}

/** The lines beside a heading, which go on below the commit above it. */
export function graphGap(above: GraphRow | undefined, lanes: number): Html {
  const going = above ? [...above.passing, ...above.leaving] : []
  return html`<span class="graph gap" aria-hidden="true"><svg width="${lanes * step}" height="1"></svg>${rest(going, lanes)}</span>`
}

/** Fills a row of any height. */
const rest = (lanes: number[], all: number) =>
  html`<svg class="rest" viewBox="0 0 ${all * step} 10" preserveAspectRatio="none">${[...new Set(lanes)].map((one) => straight(one, 10))}</svg>`
