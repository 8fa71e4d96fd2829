import { testSources } from '#test/activity/sources.ts'

testSources({
  'hidden events in front of visible ones': { repositories: 30, events: 300, skew: 2, gone: { newest: 1, others: 0.5 } },
  'a few more sources than are read one by one': { repositories: 230, events: 300, skew: 5, gone: { newest: 0.5, others: 0.1 } },
})
