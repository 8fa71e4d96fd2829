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
import { conclude } from './report.ts'
import { compareRequests } from './requests.ts'
import { measureSearch } from './search.ts'
import { compareTestServers } from './testing.ts'
import { compareWebhooks } from './webhooks.ts'

await measureCold()
await measureCrowd()
{
  using folder = makeFolder()
  await using belfry = await startBelfry(folder.path)
  await compareRequests(belfry, [
    { name: 'GET {base}/', path: '/api/v3/' },
    { name: 'GET {base}/ as 304', path: '/api/v3/', conditional: 'etag', target: 0.5 },
    { name: 'GET {base}/user by token', path: '/api/v3/user', token: true, target: 0.5 },
  ])
}
await measureIdleMemory()
await measureBusyPolls()
await measurePages()
await compareClones()
await comparePushes()
await measureEveryday()
await compareGrowth()
await compareNotifications()
await compareWebhooks()
await measureSearch()
await compareImports()
await compareConversions()
await compareTestServers()
conclude()
