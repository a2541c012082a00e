// All charts in one file of the build, separate from the first page's code.
export { BucketChart } from './bucket-chart.tsx';
export { DenialRateChart, OutcomesChart } from './time-series.tsx';
