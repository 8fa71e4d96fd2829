import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Writes src/web/styles/tokens.css: the design tokens of `@primer/primitives` that our styles use. The package takes 57 MB, so it is not
 * installed with the product.
 */
const root = join(import.meta.dirname, '..')
const target = join(root, 'src/web/styles/tokens.css')
const source = join(root, 'node_modules/@primer/primitives/dist/css')
const schemeless = [
  'base/size/size.css',
  'base/typography/typography.css',
  'base/motion/motion.css',
  'functional/size/border.css',
  'functional/size/radius.css',
  'functional/size/size.css',
  'functional/spacing/space.css',
  'functional/typography/typography.css',
]

export function makeTokens(): string {
  const shared = Object.assign({}, ...schemeless.map(readTokens))
  const light = { ...shared, ...readTokens('functional/themes/light.css') }
  const dark = { ...shared, ...readTokens('functional/themes/dark.css') }
  const styles = globSync('src/**/*.css', { cwd: root }).filter((file) => !file.endsWith('tokens.css'))
  const wanted = new Set<string>()
  const want = (text: string) => {
    for (const [, name = ''] of text.matchAll(/var\((--[\w-]+)/g)) {
      if (wanted.has(name) || !(name in light)) continue
      wanted.add(name)
      want(light[name] ?? '')
      want(dark[name] ?? '')
    }
  }
  for (const file of styles) want(readFileSync(join(root, file), 'utf8'))
  const lines = [...wanted].toSorted().map((name) => `  ${name}: ${valueIn(name, light[name] ?? '', dark[name] ?? '')};\n`)
  return `/* Written by \`npm run tokens\` from @primer/primitives (MIT). */\n:root {\n${lines.join('')}}\n`
}

function readTokens(file: string): Record<string, string> {
  const text = readFileSync(join(source, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, '')
  return Object.fromEntries([...text.matchAll(/(--[\w-]+):\s*([^;]+);/g)].map(([, name, value]) => [name, value?.trim()]))
}

function valueIn(name: string, light: string, dark: string): string {
  if (light === dark) return light
  if (/^#|^rgb|^var\(/.test(light) && /^#|^rgb|^var\(/.test(dark)) return `light-dark(${light}, ${dark})`
  throw new Error(
    `${name} differs between light and dark and is not a colour, so light-dark() cannot hold it. Use another token.`,
  )
}

if (import.meta.main) writeFileSync(target, makeTokens())
