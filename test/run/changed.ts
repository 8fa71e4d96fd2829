import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { kindOf, root, testFiles } from './files.ts'

const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean)

/** The tests of what differs from main: changed tests, fast and slow ones beside changed sources, and fast ones beside the sources that import those. */
export function changedTests() {
  const onMain = git('branch', '--show-current')[0] === 'main'
  const [base = 'HEAD'] = onMain ? ['HEAD'] : git('merge-base', 'HEAD', 'main')
  const changed = [...git('diff', '--name-only', base), ...git('ls-files', '--others', '--exclude-standard')]
  const sources = changed.filter((file) => /^(src|test)\/.*\.ts$/.test(file))
  const importing = importersOf(sources)
    .flatMap(testsOf)
    .filter((test) => kindOf(test) === 'fast')
  const tests = new Set([...sources.flatMap((file) => [...testsOf(file), ...slowTestsBeside(file)]), ...importing])
  return testFiles().filter((file) => tests.has(file))
}

/** The files that name one of these in an import. */
export function importersOf(sources: string[]) {
  const names = new Set(sources)
  return globSync('{src,test}/**/*.ts', { cwd: root }).filter((file) => importsOf(file).some((name) => names.has(name)))
}

/** Read once. */
const known = new Map<string, string[]>()

function importsOf(file: string) {
  const text = () => readFileSync(join(root, file), 'utf8')
  const read = () => [...text().matchAll(/(?:from|import\()\s*'([#.][^']+)'/g)].map(([, name = '']) => resolve(file, name))
  const imports = known.get(file) ?? read()
  known.set(file, imports)
  return imports
}

/** The path of an imported file, as `imports` in package.json says. */
function resolve(file: string, name: string) {
  if (name.startsWith('#test/')) return name.slice(1)
  return name.startsWith('#') ? `src/${name.slice(1)}` : join(dirname(file), name)
}

/** A source's own test, or all of its folder if it has none. */
export function testsOf(file: string) {
  if (file.endsWith('.test.ts')) return [file]
  const own = file.replace(/\.ts$/, '.test.ts')
  return existsSync(join(root, own)) ? [own] : globSync(`${dirname(file)}/*.test.ts`, { cwd: root })
}

const slowTestsBeside = (file: string) =>
  file.endsWith('.test.ts') ? [] : globSync(`${dirname(file)}/*.slow.test.ts`, { cwd: root })
