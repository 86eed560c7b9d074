"""Videos of the environment that show every ply, also the agent's own: Gymnasium's shows one picture per step."""

from typing import Any

import gymnasium
from gymnasium.wrappers import RecordVideo as GymnasiumRecordVideo

from oanquan_env.errors import UsageError, needing_extra


class RecordVideo(GymnasiumRecordVideo):
    """Gymnasium's `RecordVideo` for `OAnQuan-v0`, with a picture for each ply; it takes the same arguments.

    `video_length` counts plies. Raises `UsageError` unless the environment has the `render_mode` `rgb_array`, and
    `MissingExtraError` unless the extra `video` is installed.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], video_folder: str, **settings: Any) -> None:
        if env.render_mode != "rgb_array" or not hasattr(env.unwrapped, "render_plies"):
            raise UsageError("a video needs the environment OAnQuan-v0 with render_mode='rgb_array'")
        with needing_extra("video"):
            import moviepy  # noqa: F401
            import PIL  # noqa: F401
        super().__init__(env, video_folder, **settings)

    def _capture_frame(self) -> None:
        self.recorded_frames += self.env.unwrapped.render_plies()  # type: ignore[attr-defined]
