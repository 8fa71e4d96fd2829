import { makeFolder, startBelfry } from './belfry.ts'
import { measureBusyPolls } from './busy-polls.ts'
import { compareClones } from './clone.ts'
import { measureCold } from './cold.ts'
import { compareConversions } from './conversions.ts'
import { measureCrowd } from './crowd.ts'
import { measureEveryday } from './everyday.ts'
import { compareGrowth } from './growth.ts'
import { measureIdleMemory } from './idle.ts'
import { compareImports } from './imports.ts'
import { compareNotifications } from './notifications.ts'
import { measurePages } from './pages.ts'
import { comparePushes } from './pushes.ts'
import { conclude, write } from './report.ts'
import { compareRequests } from './requests.ts'
import { measureSearch } from './search.ts'
import { compareTestServers } from './testing.ts'
import { compareWebhooks } from './webhooks.ts'

/** The parts of a run, by the names that `npm run bench` takes. */
const parts: Record<string, () => Promise<void>> = {
  cold: measureCold,
  crowd: measureCrowd,
  requests: measureRequests,
  idle: measureIdleMemory,
  'busy-polls': measureBusyPolls,
  pages: measurePages,
  clones: compareClones,
  pushes: comparePushes,
  everyday: measureEveryday,
  growth: compareGrowth,
  notifications: compareNotifications,
  webhooks: compareWebhooks,
  search: measureSearch,
  imports: compareImports,
  conversions: compareConversions,
  testing: compareTestServers,
}

const wanted = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(parts)
const unknown = wanted.filter((name) => !(name in parts))
if (unknown.length) {
  write(`There is no part ${unknown.join(', ')}. The parts are: ${Object.keys(parts).join(', ')}.`)
  process.exit(2)
}
const failed: string[] = []
for (const name of wanted) await measurePart(name)
conclude()
if (failed.length) {
  write(`\nNot measured, because of an error: ${failed.join(', ')}.`)
  process.exitCode = 1
}

/** A part that fails does not keep the parts after it from being measured. */
async function measurePart(name: string) {
  const begun = performance.now()
  try {
    await parts[name]?.()
  } catch (error) {
    failed.push(name)
    write(error instanceof Error ? `\n${error.stack}` : `\n${error}`)
  }
  write(`\n(${name}: ${((performance.now() - begun) / 60_000).toFixed(1)} minutes)`)
}

async function measureRequests() {
  using folder = makeFolder()
  await using belfry = await startBelfry(folder.path)
  await compareRequests(belfry, [
    { name: 'GET {base}/', path: '/api/v3/' },
    { name: 'GET {base}/ as 304', path: '/api/v3/', conditional: 'etag', target: 0.5 },
    { name: 'GET {base}/user by token', path: '/api/v3/user', token: true, target: 0.5 },
  ])
}
