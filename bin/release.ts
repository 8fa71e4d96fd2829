import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

/**
 * Cuts a release from a clean, green main: bumps the version, moves the changelog's "Unreleased" section below it, commits and tags.
 * Pushing is left to you.
 */
const root = join(import.meta.dirname, '..')
const usage = 'Usage: npm run release -- <patch|minor|major|x.y.z> [--dry-run]'

class Refused extends Error {}

function release() {
  const { values, positionals } = parseArgs({ options: { 'dry-run': { type: 'boolean' } }, allowPositionals: true })
  const [step = '', ...more] = positionals
  if (more.length) throw new Refused(usage)
  const version = nextVersion(JSON.parse(read('package.json')).version, step)
  checkTree(`v${version}`)
  const changelog = datedChangelog(read('CHANGELOG.md'), version)
  if (values['dry-run'])
    return say(`Would run npm run test:all, set the version to ${version}, date the changelog, commit and tag v${version}.`)
  checkGreen()
  run('npm', 'version', version, '--no-git-tag-version', '--ignore-scripts')
  writeFileSync(join(root, 'CHANGELOG.md'), changelog)
  run('git', 'commit', '--quiet', '--all', '--message', `Release ${version}`)
  run('git', 'tag', '--annotate', `v${version}`, '--message', `Belfry ${version}`)
  say(`Released ${version}. To publish it: git push --follow-tags`)
}

function nextVersion(current: string, step: string) {
  const [major = 0, minor = 0, patch = 0] = current.split('.').map(Number)
  const next: Record<string, string> = {
    major: `${major + 1}.0.0`,
    minor: `${major}.${minor + 1}.0`,
    patch: `${major}.${minor}.${patch + 1}`,
  }
  if (next[step]) return next[step]
  if (!/^\d+\.\d+\.\d+$/.test(step)) throw new Refused(usage)
  if (step.localeCompare(current, 'en', { numeric: true }) <= 0)
    throw new Refused(`${step} is not above the present version, ${current}.`)
  return step
}

function checkTree(tag: string) {
  const branch = run('git', 'branch', '--show-current')
  if (branch !== 'main') throw new Refused(`Releases are cut from main; this is ${branch || 'no branch'}. Run "git switch main".`)
  if (run('git', 'status', '--porcelain')) throw new Refused('The working tree has changes. Commit or stash them.')
  if (run('git', 'tag', '--list', tag)) throw new Refused(`The tag ${tag} exists already. Choose a higher version.`)
}

/** An empty "Unreleased" section stays at the top for what comes next. */
function datedChangelog(text: string, version: string) {
  const [, before, unreleased = '', after] = /^(.*?\n## Unreleased\n)(.*?)((?:\n## .*)?)$/s.exec(text) ?? []
  if (!unreleased.trim()) throw new Refused('CHANGELOG.md says nothing under "## Unreleased". Describe the release there.')
  return `${before}\n## ${version} (${new Date().toISOString().slice(0, 10)})\n${unreleased}${after}`
}

function checkGreen() {
  try {
    execFileSync('npm', ['run', 'test:all'], { cwd: root, stdio: 'inherit' })
  } catch {
    throw new Refused('npm run test:all fails on this commit. Fix it, then release.')
  }
}

const read = (name: string) => readFileSync(join(root, name), 'utf8')
const run = (command: string, ...args: string[]) => execFileSync(command, args, { cwd: root, encoding: 'utf8' }).trim()
const say = (line: string) => process.stdout.write(`${line}\n`)

try {
  release()
} catch (error) {
  if (!(error instanceof Refused)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}
