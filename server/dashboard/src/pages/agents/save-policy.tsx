import { useEffect, useState } from 'preact/hooks';
import { FormError } from '../../ui/form-error.tsx';
import { Loading } from '../../ui/states.tsx';
import { useReplay } from './replay.tsx';
import { ReplayReport } from './replay-report.tsx';
import { SaveDialog, type SaveDialogProps } from './save-dialog.tsx';

type SavePolicyProps = Omit<SaveDialogProps, 'part' | 'title' | 'isReady' | 'children'>;

/** Before a policy is saved, shows its effect on last week's calls, unless that failed or the person does not wait for it. */
export function SavePolicy(props: SavePolicyProps) {
  const { latest, draft } = props;
  const [isSkipped, setIsSkipped] = useState(false);
  const replay = useReplay({ ...props, policyYaml: draft.text, window: '7d' });
  const { result, error, isRunning, run, more } = replay;
  useEffect(run, []);
  const isWaiting = result === undefined && error === undefined && !isSkipped;
  return (
    <SaveDialog
      {...props}
      part="policy_yaml"
      title={`Save version ${latest.version + 1} of the policy?`}
      isReady={!isWaiting}
    >
      <h3>Effect on the calls of the last 7 days</h3>
      {isWaiting && (
        <>
          <Loading lines={2} />
          <p>
            Replaying them…{' '}
            <button type="button" class="small" onClick={() => setIsSkipped(true)}>
              Save without waiting
            </button>
          </p>
        </>
      )}
      <FormError error={error} />
      {result !== undefined && <ReplayReport {...props} result={result} more={more} isRunning={isRunning} />}
    </SaveDialog>
  );
}
