import { execFileSync } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Prints the tests of what differs from main: changed tests, and those beside changed sources. */
const root = join(import.meta.dirname, '..')
const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean)

const onMain = git('branch', '--show-current')[0] === 'main'
const [base = 'HEAD'] = onMain ? ['HEAD'] : git('merge-base', 'HEAD', 'main')
const changed = [...git('diff', '--name-only', base), ...git('ls-files', '--others', '--exclude-standard')]

/** A source's own test, or all of its folder if it has none. */
function testsOf(file: string) {
  if (file.endsWith('.test.ts')) return [file]
  if (!/^src\/.*\.ts$/.test(file)) return []
  const own = file.replace(/\.ts$/, '.test.ts')
  return existsSync(join(root, own)) ? [own] : globSync(`${dirname(file)}/*.test.ts`, { cwd: root })
}

const tests = new Set(changed.flatMap(testsOf).filter((file) => existsSync(join(root, file))))
for (const file of [...tests].sort()) process.stdout.write(`${file}\n`)
