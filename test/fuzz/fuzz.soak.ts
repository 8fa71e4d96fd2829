import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

/**
 * `npm run fuzz -- --seconds N --seed S`: worlds and requests of ascending seeds, until the time is over or a problem is found. With `--cost`:
 * growing inputs, and what they cost the server; `--only` is a pattern for the names of inputs.
 */
const { values } = parseArgs({
  options: {
    cost: { type: 'boolean', default: false },
    seconds: { type: 'string', default: '600' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
  },
})
for (const name of ['seconds', 'seed'] as const) {
  const value = values[name]
  if (/^\d{1,7}$/.test(value)) continue
  process.stderr.write(`--${name} is "${value}": it must be a number.\n`)
  process.exit(2)
}
const root = join(import.meta.dirname, '..', '..')
const limit = (Number(values.seconds) + 600) * 1000
const child = spawn(
  process.execPath,
  [
    '--test',
    `--test-timeout=${limit}`,
    '--test-global-setup=test/setup.ts',
    `test/fuzz/${values.cost ? 'cost/cost' : 'fuzz'}.slow.test.ts`,
  ],
  {
    ...{ cwd: root, stdio: 'inherit' },
    env: { ...process.env, BELFRY_FUZZ_SECONDS: values.seconds, BELFRY_FUZZ_SEED: values.seed, BELFRY_FUZZ_ONLY: values.only },
  },
)
child.on('exit', (code) => process.exit(code ?? 1))
