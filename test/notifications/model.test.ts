import { testRandomActs } from './random-acts.ts'

testRandomActs({ seed: 1, steps: 40 })
