import { type Html, html } from '../html.ts'

/** A line across a plot with its value. */
export interface PlotLabel {
  y: number
  text: string
  base?: true
}

export interface PlotPanel {
  /** Unique in the page. */
  name: string
  title: string
  /** What the plot shows, in words. */
  summary: string
  width: number
  height: number
  labels: PlotLabel[]
  shapes: Html[]
  /** Shown when a pointer rests on a part of the width; all parts are equal. */
  hints: string[]
}

/** A part of a plot. The SVG scales in width only; labels are in an SVG of their own, so that they are not distorted. */
export function plotPanel({ name, title, summary, width, height, labels, shapes, hints }: PlotPanel): Html {
  const step = width / Math.max(hints.length, 1)
  return html`<p class="panel-name">${title}</p><svg class="axis" viewBox="0 0 52 ${height}" width="52" height="${height}" aria-hidden="true">${labels.map(({ y, text }) => html`<text x="46" y="${y + 4}">${text}</text>`)}</svg>
<svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" height="${height}" role="img" aria-labelledby="plot-${name}-title plot-${name}-text">
<title id="plot-${name}-title">${title}</title><desc id="plot-${name}-text">${summary}</desc>
${[1, 2, 3].map((quarter) => html`<line class="grid" x1="${(width * quarter) / 4}" x2="${(width * quarter) / 4}" y1="0" y2="${height}"/>`)}
${labels.map(({ y, base }) => html`<line class="${base ? 'base' : 'grid'}" x1="0" x2="${width}" y1="${y}" y2="${y}"/>`)}${shapes}
${hints.map((hint, index) => html`<rect class="hit" x="${round(index * step)}" y="0" width="${round(step)}" height="${height}"><title>${hint}</title></rect>`)}</svg>`
}

/** Panels below each other, with the same times below the last: four quarters and the end. */
export function plotFigure(panels: Html[], ticks: string[], caption: Html): Html {
  return html`<figure class="plot"><div class="panels">${panels}
<div class="hours" aria-hidden="true">${ticks.map((text) => html`<span>${text}</span>`)}</div></div>
<figcaption>${caption}</figcaption></figure>`
}

/** A tenth of a pixel is enough. */
export const round = (number: number) => Math.round(number * 10) / 10

/** The largest of 1, 2, 5, 10, 20, 50, … that is not above the number. */
export function roundBelow(number: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(number, 1)))
  return ([5, 2].find((times) => times * power <= number) ?? 1) * power
}
