# Source this: `. ./env.sh` puts a shell (bash, zsh, dash) into Lodestar's environment. It prints only errors.
if [ -n "${BASH_SOURCE:-}" ]; then
    _lodestar_file=$BASH_SOURCE
elif [ -n "${ZSH_VERSION:-}" ]; then
    eval '_lodestar_file=${(%):-%x}'
else
    _lodestar_file=./env.sh # a plain sh does not say which file it reads: source it from the checkout
fi
_lodestar_before=${LODESTAR_ROOT:-} # another checkout that this shell was in
LODESTAR_ROOT=$(CDPATH='' cd -- "$(dirname -- "$_lodestar_file")" && pwd)
unset _lodestar_file
export LODESTAR_ROOT

_lodestar_prepend() { # variable, folder: puts the folder first, once
    eval "_lodestar_value=\${$1:-}"
    case ":$_lodestar_value:" in
        *":$2:"*) ;;
        *) export "$1=$2${_lodestar_value:+:$_lodestar_value}" ;;
    esac
    unset _lodestar_value
}

_lodestar_environment() {
    if [ ! -x "$LODESTAR_ROOT/.venv/bin/python" ] || [ ! -f "$LODESTAR_ROOT/install/setup.sh" ]; then
        echo "env.sh: not set up yet, run: make setup" >&2
        return 1
    fi
    _lodestar_wheels=$(echo "$LODESTAR_ROOT"/.venv/lib/python3*/site-packages/ros_wheels_bootstrapper*)
    if [ "${VIRTUAL_ENV:-}" != "$LODESTAR_ROOT/.venv" ]; then
        . "$LODESTAR_ROOT/.venv/bin/activate" || return 1
    fi
    case $_lodestar_wheels in
        *'*') ;; # a system ROS 2: install/setup.sh chains to it
        *)
            ROS_DISTRO=kilted ROS_VERSION=2 ROS_PYTHON_VERSION=3
            _ROS_WHEELS_BOOTSTRAP_COMPLETE=1 # the loader's path stands already: Python need not start twice
            export ROS_DISTRO ROS_VERSION ROS_PYTHON_VERSION _ROS_WHEELS_BOOTSTRAP_COMPLETE
            _lodestar_prepend AMENT_PREFIX_PATH "$LODESTAR_ROOT/.venv"
            _lodestar_prepend CMAKE_PREFIX_PATH "$LODESTAR_ROOT/.venv"
            for _lodestar_folder in "$LODESTAR_ROOT"/.venv/lib "$LODESTAR_ROOT"/.venv/lib/python3*/site-packages/ros_*.libs; do
                [ -d "$_lodestar_folder" ] && _lodestar_prepend LD_LIBRARY_PATH "$_lodestar_folder"
            done
            unset _lodestar_folder
            ;;
    esac
    unset _lodestar_wheels
    COLCON_CURRENT_PREFIX="$LODESTAR_ROOT/install"
    case $- in
        *u*) # colcon's script reads variables that are not set
            set +u
            . "$COLCON_CURRENT_PREFIX/setup.sh"
            set -u
            ;;
        *) . "$COLCON_CURRENT_PREFIX/setup.sh" ;;
    esac
    unset COLCON_CURRENT_PREFIX
    for _lodestar_folder in "$LODESTAR_ROOT"/install/lodestar_*/lib/lodestar_*; do
        case ":$PATH:" in
            *":$_lodestar_folder:"*) ;;
            *) [ -d "$_lodestar_folder" ] && PATH="$PATH:$_lodestar_folder" ;;
        esac
    done
    unset _lodestar_folder
    export PATH
    case ${FASTDDS_DEFAULT_PROFILES_FILE:-} in
        "" | "${_lodestar_before:-$LODESTAR_ROOT}"/config/fastdds*.xml)
            export FASTDDS_DEFAULT_PROFILES_FILE="$LODESTAR_ROOT/config/fastdds.xml"
            ;;
        *) export FASTDDS_DEFAULT_PROFILES_FILE ;; # the user's own stays
    esac
    # Nothing is written outside the checkout, but for the private folder of a run while it lasts.
    export LODESTAR_CACHE_DIR="$LODESTAR_ROOT/.cache" # tables of the grammar
    export NUMBA_CACHE_DIR="$LODESTAR_ROOT/.cache/numba"
    export MPLCONFIGDIR="$LODESTAR_ROOT/.cache/matplotlib"
    export YOLO_CONFIG_DIR="$LODESTAR_ROOT/.cache"
    export ROS_LOG_DIR="${ROS_LOG_DIR:-$LODESTAR_ROOT/out/log/ros}"
    export HF_HUB_OFFLINE=1 # no model comes from a hub
    if [ "${ROS_DISTRO:-}" = humble ]; then
        case ${ROS_AUTOMATIC_DISCOVERY_RANGE:-} in # Humble does not know it: where it is given, it says what Humble knows
            "") export ROS_LOCALHOST_ONLY="${ROS_LOCALHOST_ONLY:-1}" ;;
            LOCALHOST | OFF) export ROS_LOCALHOST_ONLY=1 ;;
            *) export ROS_LOCALHOST_ONLY=0 ;;
        esac
    else
        export ROS_AUTOMATIC_DISCOVERY_RANGE="${ROS_AUTOMATIC_DISCOVERY_RANGE:-LOCALHOST}"
    fi
}

if _lodestar_environment; then
    unset -f _lodestar_environment _lodestar_prepend
    unset _lodestar_before
else
    unset -f _lodestar_environment _lodestar_prepend
    unset _lodestar_before
    return 1
fi
