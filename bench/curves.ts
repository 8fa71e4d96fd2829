import { writeFileSync } from 'node:fs'

const [width, height, left, bottom] = [720, 360, 60, 40]
const colours = ['#1f6feb', '#cf222e', '#1a7f37', '#9a6700', '#8250df', '#57606a']

/** Writes curves over a logarithmic axis as an SVG file: for each name, a value for each size. */
export function drawCurves(file: string, title: string, sizes: number[], curves: Record<string, number[]>) {
  const most = Math.max(...Object.values(curves).flat()) * 1.1
  const [first = 1, last = 10] = [sizes[0], sizes.at(-1)].map((size) => Math.log10(size ?? 1))
  const x = (size: number) => left + ((Math.log10(size) - first) / (last - first || 1)) * (width - left - 220)
  const y = (value: number) => height - bottom - (value / most) * (height - bottom - 50)
  const text = (at: number, down: number, content: string, more = '') =>
    `<text x="${at.toFixed(0)}" y="${down.toFixed(0)}" ${more}>${content}</text>`
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((share) => share * most)
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12" role="img">`,
    `<title>${title}</title>`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    text(left, 24, title, 'font-size="15"'),
    ...ticks.flatMap((tick) => [
      `<path d="M${left} ${y(tick).toFixed(1)}H${width - 220}" stroke="#d0d7de"/>`,
      text(left - 8, y(tick) + 4, tick.toFixed(1), 'text-anchor="end"'),
    ]),
    ...sizes.map((size) => text(x(size), height - bottom + 18, size.toLocaleString('en'), 'text-anchor="middle"')),
    ...Object.entries(curves).flatMap(([name, values], index) => {
      const colour = colours[index % colours.length]
      const points = values.map((value, at) => `${x(sizes[at] ?? 1).toFixed(1)},${y(value).toFixed(1)}`).join(' ')
      return [
        `<polyline points="${points}" fill="none" stroke="${colour}" stroke-width="2"/>`,
        text(width - 205, 60 + index * 18, name, `fill="${colour}"`),
      ]
    }),
    '</svg>',
  ]
  writeFileSync(file, `${lines.join('\n')}\n`)
}
