import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Html, html } from '../html.ts'

const folder = join(dirname(createRequire(import.meta.url).resolve('@primer/octicons/package.json')), 'build/svg')
const drawn = new Map<string, string>()

/** An icon of `@primer/octicons`, see https://primer.style/octicons. It is hidden from screen readers unless it has a label. */
export function icon(name: string, { size = 16, label }: { size?: 16 | 24; label?: string } = {}): Html {
  const svg = drawn.get(`${name}-${size}`) ?? draw(name, size)
  const read = label === undefined ? html` aria-hidden="true"` : html` role="img" aria-label="${label}"`
  return new Html(`<svg class="octicon"${read.text}${svg}`)
}

/** The rest of the element, after its first attributes. */
function draw(name: string, size: number): string {
  const text = readFileSync(join(folder, `${name}-${size}.svg`), 'utf8').trim()
  const svg = text.slice('<svg'.length).replace(' xmlns="http://www.w3.org/2000/svg"', '')
  drawn.set(`${name}-${size}`, svg)
  return svg
}
